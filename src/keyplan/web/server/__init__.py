"""All systems on one port, and background work.

`application` puts APIs, pages, files, health and metrics together (`application`, `running`), `edge` gives every
request an ID and limits, `connections` limits connections (`server_config`, `allow_many_files`), `addresses` finds out
who a client is, `monitoring` answers questions about health and metrics, `work` runs handlers of streams and regular
cleanup (`Worker`), `demo` fills a system with demo data. It knows all other folders, and none of them knows it.
"""

from keyplan.web.pages.ready import ReadyPage
from keyplan.web.server.application import application, running
from keyplan.web.server.connections import allow_many_files, server_config
from keyplan.web.server.demo import filled
from keyplan.web.server.work import Worker
from keyplan.web.system.observe import log_to_stderr

__all__ = [
    "ReadyPage",
    "Worker",
    "allow_many_files",
    "application",
    "filled",
    "log_to_stderr",
    "running",
    "server_config",
]
