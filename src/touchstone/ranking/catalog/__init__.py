"""The public interface of the catalog: writes, immutable views, and the parts that a view combines."""
