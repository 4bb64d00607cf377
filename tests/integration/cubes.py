"""Result files as xarray reads them."""

import numpy as np
import xarray as xr


def opened(path):
    with xr.open_dataset(path, engine="netcdf4") as data:
        return data.load()


def flags(status):
    """The names of a status variable in place of its numbers."""
    return np.array(str(status.attrs["flag_meanings"]).split())[status.values]
