"""Uploading images to WavyBlog."""

from typing import Any

import httpx


def sent(client: httpx.Client, data: bytes, content_type: str = "image/png") -> tuple[str, httpx.Response]:
    """Ask for an upload and send it. Returns the upload's ID and the response of the file store."""
    asked = client.post("/images/upload", json={"content_type": content_type, "size": len(data)})
    assert asked.status_code == 201, asked.text
    ticket = asked.json()
    assert ticket["max_bytes"] == len(data)
    answer = httpx.post(client.base_url.join(ticket["url"]), data=ticket["fields"], files={"file": data})
    upload_id: str = ticket["upload_id"]
    return upload_id, answer


def added(client: httpx.Client, data: bytes, content_type: str = "image/png") -> dict[str, Any]:
    upload_id, answer = sent(client, data, content_type)
    assert answer.is_success, answer.text
    made = client.post("/images", json={"upload_id": upload_id})
    assert made.status_code == 201, made.text
    image: dict[str, Any] = made.json()
    return image
