"""The explanation service: starts and reports explanations of models and datasets."""
