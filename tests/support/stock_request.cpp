#include "support/stock_request.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <exception>
#include <utility>

namespace order_timeout::stock {
namespace {

namespace beast = boost::beast;
namespace json = boost::json;

std::string text_of(beast::string_view view) { return {view.data(), view.size()}; }

Release read_release(const json::object& body, std::string key) {
  Release release;
  release.key = std::move(key);
  release.order_id = body.at("order_id").to_number<std::int64_t>();
  const auto* items = body.if_contains("items");
  if (items == nullptr || items->is_null()) return release;
  for (const auto& item : items->as_array()) {
    const auto& fields = item.as_object();
    release.items.push_back({fields.at("sku_id").to_number<std::int64_t>(),
                             fields.at("qty").to_number<std::int64_t>()});
  }
  return release;
}

}  // namespace

Response make_response(int status, std::string body) {
  Response response;
  response.version(11);
  response.result(static_cast<unsigned>(status));
  response.set(beast::http::field::content_type, "application/json");
  response.body() = std::move(body);
  return response;
}

SeenRequest seen(const Request& request) {
  SeenRequest result;
  result.target = text_of(request.target());
  result.body = request.body();
  for (const auto& field : request) {
    std::string name = text_of(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    result.headers[name] = text_of(field.value());
  }
  return result;
}

std::variant<Release, Response> understand(const Request& request) {
  const std::string key = text_of(request["Idempotency-Key"]);
  if (key.empty()) return make_response(400, R"({"error":"no Idempotency-Key"})");
  try {
    const auto body = json::parse(request.body()).as_object();
    const auto* event_id = body.if_contains("event_id");
    if (event_id != nullptr && event_id->as_string() != key) {
      return make_response(422, R"({"error":"event_id is not the Idempotency-Key"})");
    }
    return read_release(body, key);
  } catch (const std::exception&) {
    return make_response(400, R"({"error":"not the JSON of an event"})");
  }
}

}  // namespace order_timeout::stock
