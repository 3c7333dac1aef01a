"""WavyBlog's API beside a bare FastAPI handler that returns the same JSON."""
