"""Two CUDA kernels for sm_80 and sm_86, and nothing for newer GPUs: an example for smgate."""

import ctypes
import pathlib

__version__ = "1.0"


def fatbin() -> int:
    """The address of the device code, for `cuModuleLoadData`."""
    library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("libsmgate_demo.so")))
    library.smgate_demo_fatbin.restype = ctypes.c_void_p
    return library.smgate_demo_fatbin()
