"""Names of the files in a run's folder, and the format of its record; nothing heavy is imported."""

import re

FORMAT, FORMAT_VERSION = "manyview run", 2
RUN_NAME, PREDICTIONS_NAME, HISTORY_NAME = "run.json", "predictions.csv", "history.csv"
# All files that a fit writes: those above, the model, the report, and a copy with the results.
OWN_NAMES = re.compile(
    r"run\.json|predictions\.csv|history\.csv|report\.html|model\.json"
    r"|model(-[0-9a-f]{16})?\.safetensors|results\.(h5mu|h5ad)"
)
