from .gaussian_process.gp import GP as GP
from .protocol import Surrogate as Surrogate
from .quality import Quality as Quality, assess as assess
from .random_forest.forest import Forest as Forest
