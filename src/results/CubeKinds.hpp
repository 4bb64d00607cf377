// Schemas of the cubes that statistics files hold: RawBlock.hpp has them.
#pragma once

#include "results/RawBlock.hpp"
