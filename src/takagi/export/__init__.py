"""Rules outside Python: ONNX, Matlab and Octave, C, and JSON for a web page.

Every function takes a fitted `TSKRegressor`, a `Pipeline` that ends in one, a `RuleBase` or a `RuleModel`, returns the
content, and writes it to a file as well if a path is given.
"""

from takagi.export._c import to_c
from takagi.export._fis import to_fis
from takagi.export._fis_reader import read_fis
from takagi.export._json import rules_to_dict, to_json
from takagi.export._onnx import to_onnx

__all__ = ["read_fis", "rules_to_dict", "to_c", "to_fis", "to_json", "to_onnx"]
