"""The migration from Payload: an export is read, converted, written and checked."""
