"""What isn't Keyplan's own."""

from keyplan.review.rule import Rule

OTHER_ERROR = Rule(
    "KP903",
    "other-error",
    "rejected",
    "error",
    "An error of the design's own code",
    "The design's module, or one that it imports, raises a `DesignError` with a code that isn't Keyplan's. The message "
    "says what is wrong. Such an error can't be explained here, and the review can only pass it on. Look for the code "
    "in your own modules, or in a library that they import.",
)
