"""Models in ONNX, a format in which programs without Python or scikit-learn can use them."""
