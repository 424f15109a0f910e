"""The benchmark of trainings and explanations: against other libraries, in quality and in time."""
