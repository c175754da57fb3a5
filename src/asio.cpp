// What Asio and Beast have that is not a template (src/CMakeLists.txt: order_timeout_asio).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
