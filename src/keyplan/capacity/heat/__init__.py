"""Where a design runs hot under a given load: `keyplan forecast`.

A day of requests is drawn at random, with the keys that they ask for: some are popular, some hours are busy, and jobs
run. The requests meet a model of DynamoDB's partitions, and the result says which keys are too hot, from how many users
on, how many requests are throttled and when, and what would help. It needs NumPy: `keyplan[forecast]`.

What is known comes from the design and from metering: which keys an operation touches (`touches`), and how many units
it consumes there. What isn't known is said by the traffic file (popularity, hours, jobs), or assumed;
docs/forecast.md lists the assumptions.

| module | what it is |
| --- | --- |
| `touches` | `Operation` and its `Touch`es: which keys a pattern or write reads and writes, and how much |
| `factors` | what the values in a hash key depend on, and how many there are |
| `popularity` | draws values, of which some are more popular than others |
| `partitions` | `Partitions` of one table or index: limits, bursts, and splits for heat |
| `load` | a `Load`: operations with their rates over a day |
| `simulation` | `simulate`: a day of requests on partitions |
| `hot_keys` | which single keys are too hot, at how many users, and why a split can't help |
| `forecasting` | `forecast`: all of it, with what would help, before and after |
| `reports`, `heatmap` | a `Forecast` as text, Markdown, JSON, and as a picture |
"""

from keyplan.capacity.heat.forecasting import Forecast, forecast
from keyplan.capacity.heat.heatmap import heat_map
from keyplan.capacity.heat.reports import forecast_json, forecast_markdown, forecast_text

__all__ = ["Forecast", "forecast", "forecast_json", "forecast_markdown", "forecast_text", "heat_map"]
