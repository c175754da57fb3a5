// Lets an Asio loop do the waiting for a hiredis connection, 0.14 and 1.x alike. hiredis opens,
// owns and closes the socket and does all reading and writing; Asio only says when.
#pragma once

#include <boost/asio/any_io_executor.hpp>

struct redisAsyncContext;

namespace order_timeout::redis {

// To be called once, before any callback is set on `context`, which must be free of error. From
// here on the hooks belong to the adapter; it ends by itself when hiredis cleans up.
void attach_to_loop(boost::asio::any_io_executor executor, redisAsyncContext* context);

}  // namespace order_timeout::redis
