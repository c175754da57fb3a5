// Inside of the stock service: what a release call says. Pure.
#pragma once

#include <boost/beast/http.hpp>
#include <string>
#include <variant>

#include "support/stock_books.hpp"
#include "support/stock_service.hpp"

namespace order_timeout::stock {

using Request = boost::beast::http::request<boost::beast::http::string_body>;
using Response = boost::beast::http::response<boost::beast::http::string_body>;

// JSON with a status.
Response make_response(int status, std::string body);

SeenRequest seen(const Request& request);

// The release a request asks for, or the refusal it gets: 400 without a key or an event's JSON, 422
// where the body's event_id is not the key.
std::variant<Release, Response> understand(const Request& request);

}  // namespace order_timeout::stock
