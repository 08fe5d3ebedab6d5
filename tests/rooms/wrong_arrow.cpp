// Rewriting is below the rules, whose headers it does not find.
#include "derive/state.h"
