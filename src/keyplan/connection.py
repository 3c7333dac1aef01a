"""Settings that choose a DynamoDB (a file, an endpoint or AWS), from `KEYPLAN_*` in the environment or `.env`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Connection(BaseSettings):
    """The settings that choose a DynamoDB. A command's options override them."""

    model_config = SettingsConfigDict(
        env_prefix="KEYPLAN_", env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True
    )

    path: Path = Field(default=Path("keyplan.db"), description="The database file of the embedded DynamoDB.")
    durability: Literal["normal", "full"] = Field(
        default="normal", description="`full`: writes also survive a power failure."
    )
    endpoint_url: str | None = Field(default=None, description="The DynamoDB endpoint to use instead of a file.")
    aws: bool = Field(
        default=False, description="Use DynamoDB on AWS instead of a file, configured as for the AWS CLI."
    )
    dynamodb_timeout: Annotated[float, Field(gt=0)] = Field(
        default=10.0,
        description="The most seconds that a request to an endpoint or AWS takes, with all repetitions.",
    )
    tables: dict[str, str] = Field(default={}, description="The value of each `{name}` in table names.")

    @model_validator(mode="after")
    def _check_one_dynamodb(self) -> Self:
        if self.aws and self.endpoint_url:
            raise ValueError("aws and endpoint_url can't be used together")
        return self

    @property
    def embedded(self) -> bool:
        """Whether the embedded DynamoDB is used, with its data in a file."""
        return not self.aws and self.endpoint_url is None

    def table_environment(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Values for each `{name}` in table names: from `tables`, or from the environment variable `NAME`."""
        return {name.lower(): value for name, value in environ.items() if value} | self.tables
