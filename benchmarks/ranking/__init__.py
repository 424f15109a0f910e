"""The benchmark of rankings against ready-made engines."""
