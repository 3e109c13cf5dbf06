"""The version of the package. It is that of the service; a test compares them."""

__version__ = "0.1.0"
