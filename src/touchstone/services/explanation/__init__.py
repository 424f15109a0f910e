"""The explanation service, which starts and reports explanations of models and datasets."""
