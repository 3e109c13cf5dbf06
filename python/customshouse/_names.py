"""Names that several modules use."""

# The name of the package, in folders of the user, threads and logs.
PACKAGE_NAME = "customshouse"
# Members of an event that only the journal has: the call as people see it, and its dangerous parts.
SHOWN = ("action_shown", "action_marks")
