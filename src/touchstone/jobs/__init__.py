"""Long work as rows: states, moves, executors and events, shared by training and explanation."""
