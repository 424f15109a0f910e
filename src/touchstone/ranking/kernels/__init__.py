"""The inner loops over leaves and records, compiled by Numba for large catalogs, and the arrays that they work on."""
