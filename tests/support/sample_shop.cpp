#include "support/sample_shop.hpp"

namespace order_timeout::testing {

OrderTableConfig sample_order_table() {
  OrderTableConfig mapping;
  mapping.name = "public.t_order";
  mapping.columns.paid_at = "paid_at";
  mapping.items = {
      .table = "public.t_order_item", .order_id = "order_id", .columns = {"sku_id", "qty"}};
  mapping.payments = {.table = "public.t_payment",
                      .id = "payment_id",
                      .order_id = "order_id",
                      .status = "status",
                      .amount = "amount_cents",
                      .created_at = "created_at",
                      .paid = {"SUCCESS"},
                      .in_progress = {"PAYING"}};
  return mapping;
}

}  // namespace order_timeout::testing
