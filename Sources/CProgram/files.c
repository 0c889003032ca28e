#include "CProgram.h"

// C23's #embed, which clang has for every older C too.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char troubleshooting[] = {
#embed "../../deploy/troubleshooting.md"
    , 0};

static const char haproxy[] = {
#embed "../../config/recipes/engines/bearer.lua"
    , 0};

const char *troubleshooting_page(void) { return troubleshooting; }

const char *haproxy_script(void) { return haproxy; }
