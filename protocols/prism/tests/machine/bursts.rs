//! Bursts: what the links cannot take at once waits at the proxy, leaves in order as room appears, and is still
//! welcome at the receiver when it comes late.
use crate::support::{Bench, ack, at, data, flow, flow_number};
use prismux_prism::{DataRewrite, LinkConfig, LinkId, Proxy, ProxyConfig, Verdict};
use prismux_wire::{TcpHeader, Timestamps};

const PACKET: u32 = 1000;

fn default_proxy() -> ProxyConfig {
    ProxyConfig { standby: false, ..ProxyConfig::default() }
}

/// A proxy that was started anew: no link is known, and a whole window comes after the first ACK.
#[test]
fn a_restarted_proxy_does_not_drown_its_links_in_the_senders_window() {
    let mut bench = Bench::new(default_proxy(), &[1000, 1000]);
    let packets = 400;
    let sent = (0..packets).filter(|n| bench.send(at(11), 1000 + n * PACKET, PACKET).is_some()).count();
    assert!((10..150).contains(&sent), "{sent} of {packets} sent at once to links that nobody knows yet");
    // ACKs make room; everything leaves, in order, once.
    let (mut received, mut now, mut next) = (sent as u32, 40, sent as u32);
    while received > 0 && next < packets {
        let said = bench.ack(at(now), &ack(1000 + next * PACKET, &[]), 1);
        let order: Vec<u64> = said.forwarded.iter().map(|(seq, _)| *seq).collect();
        let expected: Vec<u64> =
            (0..order.len() as u32).map(|n| u64::from(1000 + (next + n) * PACKET)).collect();
        assert_eq!(order, expected);
        received = order.len() as u32;
        next += received;
        now += 30;
    }
    assert_eq!(next, packets, "what waited has left");
}

/// When a link loses all it carried, the repairs do not go out in one burst that would be lost again.
#[test]
fn repairs_leave_as_the_links_have_room() {
    let mut bench = Bench::new(default_proxy(), &[1000]);
    bench.handshake(at(0), 1000, 7);
    let packets = 56;
    let sent = (0..packets).filter(|n| bench.send(at(11), 1000 + n * PACKET, PACKET).is_some()).count();
    assert_eq!(sent as u32, packets, "within what a link takes of new data");
    // The last packet arrived and links keep order: everything before it is lost.
    let end = 1000 + packets * PACKET;
    let said = bench.ack(at(60), &ack(1000, &[(end - PACKET, end)]), 1);
    let repaired = said.forwarded.len() as u32;
    assert!((4..packets - 10).contains(&repaired), "{repaired} of {} lost", packets - 1);
    assert_eq!(said.forwarded[0].0, 1000, "the lowest first");
    let next = 1000 + repaired * PACKET;
    let more = bench.ack(at(90), &ack(next, &[(end - PACKET, end)]), 2);
    assert_eq!(more.forwarded.first().map(|(seq, _)| *seq), Some(u64::from(next)));
}

/// Repairs that came all together would overflow the queue that has just overflowed: they take the time that their
/// link takes.
#[test]
fn repairs_leave_at_the_pace_of_their_link() {
    let mut bench = Bench::new(default_proxy(), &[800]);
    bench.handshake(at(0), 1000, 7);
    let packets = 56;
    for n in 0..packets {
        bench.send(at(11), 1000 + n * PACKET, PACKET);
    }
    let end = 1000 + packets * PACKET;
    let mut sent = bench.ack(at(60), &ack(1000, &[(end - PACKET, end)]), 1).forwarded.len() as u64;
    let rate = bench.proxy.link_status()[0].rate.expect("known").as_bps();
    let first = sent;
    for millis in 61..200 {
        sent += bench.run_timers(at(millis)).forwarded.len() as u64;
        let carried = rate * (millis - 60) / 8000 / u64::from(PACKET);
        assert!(
            sent <= carried + 6,
            "{sent} repairs {} ms after the loss, {carried} at its rate",
            millis - 60
        );
    }
    assert!(sent > first + 1, "{sent}: they go on without any ACK");
}

/// A link is given up: what a connection with one small packet under way repeats does not wait until all of another's
/// load has gone out again.
#[test]
fn what_a_modest_connection_repeats_does_not_wait_behind_anothers_load() {
    const KEY: u64 = 7;
    let mut bench = Bench::new(default_proxy(), &[800, 800]);
    bench.handshake(at(0), 1000, 7);
    for n in 0..56 {
        bench.send(at(11), 1000 + n * PACKET, PACKET);
    }
    // Nearly all is lost, and goes out again at the links' pace.
    let end = 1000 + 56 * PACKET;
    bench.ack(at(60), &ack(1000, &[(end - 2 * PACKET, end)]), 1);
    bench.proxy.handle_data(at(61), flow_number(6000), &data(5), 1, KEY);
    let (_, link) = *bench.drain().forwarded.iter().find(|(packet, _)| *packet == KEY).expect("it goes out");
    bench.proxy.leave(at(61), link);
    bench.proxy.join(at(61), link, LinkConfig::default());
    bench.proxy.leave(at(61), link);
    let mut said = bench.drain();
    said.forwarded.extend(bench.run_timers(at(63)).forwarded);
    let repeated = said.forwarded.iter().find(|(packet, _)| *packet == KEY);
    assert!(repeated.is_some_and(|(_, other)| *other != link), "{:?}", said.forwarded);
    assert!(said.forwarded.len() < 30, "the others' leave at the pace of the link: {}", said.forwarded.len());
}

/// The receiver has taken a younger packet in order (its TSecr says so). A repair with its old timestamp would be
/// thrown away as an old duplicate; one with the sender's newest would make old duplicates of what is still under
/// way.
#[test]
fn a_repair_carries_the_timestamp_that_the_receiver_has_last_accepted() {
    let mut proxy: Proxy<u32> = Proxy::new(default_proxy());
    for link in 0..2 {
        proxy.join(
            at(0),
            LinkId(link),
            LinkConfig { name: format!("m{link}"), advertised_rate: None, round_trip: None },
        );
    }
    let stamped = |mut header: TcpHeader, value: u32, echo: u32| {
        header.options.timestamps = Some(Timestamps { value, echo });
        header
    };
    let mut links = Vec::new();
    for n in 0..8 {
        let header = stamped(data(1000 + n * PACKET), 50 + n, 7);
        proxy.handle_data(at(11), flow(), &header, PACKET, n);
        while let Some(verdict) = proxy.poll_verdict() {
            if let Verdict::Forward { link, rewrite, .. } = verdict {
                assert!(rewrite.is_identity());
                links.push(link);
            }
        }
    }
    // The first ACK brings the proxy into step, the second shows that the packet after 1000 on the same link arrived.
    let later = links.iter().skip(1).position(|link| *link == links[0]).expect("again") as u32 + 1;
    let block = (1000 + later * PACKET, 1000 + (later + 1) * PACKET);
    let mut rewrites = Vec::new();
    for (millis, blocks) in [(30, &[][..]), (40, &[block][..])] {
        let header = stamped(ack(1000, blocks), 900, 300);
        proxy.handle_reverse(at(millis), flow(), &header, 0, 99);
        while let Some(verdict) = proxy.poll_verdict() {
            if let Verdict::Forward { packet: 0, rewrite, .. } = verdict {
                rewrites.push(rewrite);
            }
        }
    }
    let [repair] = rewrites[..] else { panic!("one repair of the first packet: {rewrites:?}") };
    let tsval = |own: u32, rewrite: DataRewrite| {
        let mut header = stamped(data(1000), own, 7);
        rewrite.apply(&mut header);
        header.options.timestamps.map(|timestamps| timestamps.value)
    };
    assert_eq!(tsval(50, repair), Some(300), "raised to what the receiver echoes");
    assert_eq!(tsval(301, repair), Some(301), "never lowered");
    assert_eq!(tsval(50_u32.wrapping_sub(100), repair), Some(300), "across the wrap");
}
