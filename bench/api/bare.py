"""What is compared with: FastAPI, and nothing else. `python -m bench.api.bare PORT FILE`: a file of bodies by path."""

import json
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

ANNOTATED = "/annotated"


def application(answers: dict[str, Any]) -> FastAPI:
    """Gives the same JSON as the system that the answers are from: by handlers as one writes them, and annotated.

    What an annotated handler returns is left to pydantic; of any other, FastAPI makes JSON's own types in Python first,
    which takes most of the time where there is much of it.
    """
    app = FastAPI()

    @app.get("/api/wavyblog/posts/{slug}")
    async def post(slug: str):  # type: ignore[no-untyped-def]
        return answers[f"/api/wavyblog/posts/{slug}"]

    @app.get("/api/wavyblog/posts")
    async def posts(limit: int = 50):  # type: ignore[no-untyped-def]
        return answers["/api/wavyblog/posts?limit=20"]

    @app.get(f"{ANNOTATED}/api/wavyblog/posts/{{slug}}")
    async def annotated_post(slug: str) -> Any:  # noqa: ANN401 - as it was answered
        return answers[f"/api/wavyblog/posts/{slug}"]

    @app.get(f"{ANNOTATED}/api/wavyblog/posts")
    async def annotated_posts(limit: int = 50) -> Any:  # noqa: ANN401 - as it was answered
        return answers["/api/wavyblog/posts?limit=20"]

    return app


if __name__ == "__main__":
    port, file = sys.argv[1:]
    uvicorn.run(application(json.loads(Path(file).read_text())), port=int(port), access_log=False, log_level="warning")
