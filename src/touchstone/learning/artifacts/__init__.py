"""The files that a training produces: the model, its card, its predictions, and everything needed to use them."""
