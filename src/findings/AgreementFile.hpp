// How well scores agree with people: Alignment.hpp has it.
#pragma once

#include "findings/Alignment.hpp"
