#include "app/server/large_blocks.h"

namespace server {

void give_large_blocks_back() {}  // Windows gives blocks of a megabyte and more back by itself

}  // namespace server
