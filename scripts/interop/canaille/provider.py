# Canaille's own command line, one or several commands, with ID tokens that live for a few seconds:
# Canaille has no setting for it.
import json
import os
import sys

from authlib.oidc.core.grants._legacy import LegacyMixin
from canaille.commands import cli

LegacyMixin.DEFAULT_EXPIRES_IN = int(os.environ["TOKEN_SECONDS"])
for arguments in json.loads(sys.argv[1]):
    cli(arguments, prog_name="canaille", standalone_mode=False)
