"""`python -m bench.engine`: the engine side by side with the emulators that people would pick instead."""
