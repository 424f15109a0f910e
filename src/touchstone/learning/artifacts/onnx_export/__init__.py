"""Export of models to ONNX, a format for programs without Python or scikit-learn."""
