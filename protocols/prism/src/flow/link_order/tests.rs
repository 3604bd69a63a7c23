use super::{LinkOrders, MANY};
use crate::ids::LinkId;
use crate::micros::Micros;
use prismux_units::Instant;
use prismux_wire::SeqNumber;

#[test]
fn a_flow_keeps_as_many_orders_as_it_has_packets_under_way_whatever_links_it_takes() {
    let mut orders = LinkOrders::default();
    // Four packets under way, each over the next of two hundred links.
    for number in 0..2000_u32 {
        orders.push(
            LinkId((number % 200) as u8),
            SeqNumber(number),
            number,
            SeqNumber(number.saturating_sub(4)),
        );
        if let Some(old) = number.checked_sub(4) {
            let link = LinkId((old % 200) as u8);
            assert!(orders.on_arrival(link, old).is_none());
            assert_eq!(orders.pop_up_to(link, old), Some((SeqNumber(old), old)));
        }
    }
    assert_eq!(orders.orders.len(), 5);
    assert!(orders.memory_bytes() < 1000, "{}", orders.memory_bytes());
}

#[test]
fn entries_that_nothing_will_come_after_do_not_keep_orders() {
    let mut orders = LinkOrders::default();
    // Nothing ever arrives: what the receiver has came over other links.
    for number in 0..200_u32 {
        orders.push(LinkId(number as u8), SeqNumber(number), number, SeqNumber(number));
    }
    assert!(orders.orders.len() <= MANY, "{}", orders.orders.len());
}

#[test]
fn what_was_overtaken_keeps_its_link() {
    let mut orders = LinkOrders::default();
    let (at, link) = (Micros::at(Instant::from_millis(5)), LinkId(150));
    orders.push(link, SeqNumber(1), 7, SeqNumber(0));
    orders.push(link, SeqNumber(2), 8, SeqNumber(0));
    orders.on_arrival(link, 8);
    assert_eq!(orders.pop_up_to(link, 8), Some((SeqNumber(1), 7)));
    orders.overtake(link, SeqNumber(1), 7, at);
    assert_eq!(orders.pop_up_to(link, 8), Some((SeqNumber(2), 8)));
    orders.push(LinkId(3), SeqNumber(3), 1, SeqNumber(0));
    let (first, overtakers) = orders.first_overtaken(link).expect("one was overtaken");
    assert_eq!((first.seq, overtakers, orders.overtaken().count()), (SeqNumber(1), 1, 1));
    orders.pop_overtaken(link);
    assert_eq!(orders.overtaken().count(), 0);
}
