"""The files that a training leaves: the model, its card, its predictions, and all that is needed to use them."""
