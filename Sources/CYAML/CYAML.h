// libyaml 0.2 as one Swift module. Only Configuration imports it.
#include <yaml.h>
