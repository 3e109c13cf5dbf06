"""The name of the package, in folders of the user, threads and logs."""

PACKAGE_NAME = "customshouse"
