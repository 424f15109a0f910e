"""Projects: a question, the criteria and weights it calls for, and the dataset that was chosen."""
