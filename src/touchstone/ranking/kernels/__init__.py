"""The inner loops over leaves and records, which Numba compiles for large catalogs, and their input arrays."""
