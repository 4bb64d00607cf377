// `stereosweep export DIR`: the journal of a run as an HDF5 file, finished or not.
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

int export_command(const Arguments& arguments);

}  // namespace stereosweep::app
