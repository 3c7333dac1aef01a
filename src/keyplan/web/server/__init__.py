"""All systems on one port, and what is done beside requests.

`application` puts APIs, pages, files, health and metrics together (`application`, `running`), `edge` gives every
request an id and limits, `work` carries out what streams and the clock ask for (`Worker`), `demo` fills a system with
made-up data. It knows all other folders, and none of them knows it.
"""

from keyplan.web.server.application import application, running
from keyplan.web.server.demo import filled
from keyplan.web.server.work import Worker
from keyplan.web.system.observe import log_to_stderr

__all__ = ["Worker", "application", "filled", "log_to_stderr", "running"]
