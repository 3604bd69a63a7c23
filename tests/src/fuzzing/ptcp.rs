//! pTCP segments, connections fed with them, and the records of striping applications.
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_ptcp::header::{Parsed, emit};
use prismux_ptcp::{Connection, Path, PtcpConfig, PtcpHeader, Segment, SetUp};
use prismux_striping::RecordHeader;
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber, TcpFlags, TcpHeader, Timestamps};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A datagram: what is accepted can be written again and read back as the same value.
pub fn header(data: &[u8]) {
    let Ok(parsed) = Parsed::parse(data) else { return };
    assert!(parsed.payload_offset <= data.len());
    let payload = data.len() - parsed.payload_offset;
    assert!(payload <= usize::from(parsed.header.virtual_bytes));
    let mut out = vec![0; data.len() + 64];
    // Options that do not fit once they are aligned are refused when written.
    let Ok(length) = emit(&parsed.header, parsed.set_up.as_ref(), &parsed.tcp, &mut out) else { return };
    out.truncate(length + payload);
    let again = Parsed::parse(&out).expect("what is written can be read");
    assert_eq!((again.header, again.set_up, again.tcp), (parsed.header, parsed.set_up, parsed.tcp));
}

/// A record's header.
pub fn record(data: &[u8]) {
    if let Ok(header) = RecordHeader::parse(data) {
        assert_eq!(header.emit(), data[..RecordHeader::WIRE_BYTES]);
    }
}

fn client() -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))
}

fn server() -> IpAddr {
    IpAddr::V6(Ipv6Addr::LOCALHOST)
}

/// Datagrams of any content, each behind its length, fed to a connection that has been opened honestly, from the
/// peer's address. It must not panic, and its books must stay in order.
pub fn connection(data: &[u8]) {
    let mut now = Instant::ZERO;
    let config = || PtcpConfig::new(TcpConfig::modern(), 3);
    let locals = [client(), client()];
    let mut near = Connection::connect(config(), &locals, server(), (1, 2), Seed(1).stream("client"), now);
    let opening = near.poll_transmit(now).expect("a SYN").segment;
    let turn = |segment: Segment| {
        let path = Path { local: segment.path.remote, remote: segment.path.local };
        Segment { path, ..segment }
    };
    let opening = turn(opening);
    let mut far = Connection::accept(config(), &[server()], &opening, Seed(1).stream("server"), now)
        .expect("an opening");
    far.write(100_000);
    for _ in 0..4 {
        now += Duration::from_millis(10);
        while let Some(out) = far.poll_transmit(now) {
            near.handle_input(now, turn(out.segment));
        }
        while let Some(out) = near.poll_transmit(now) {
            far.handle_input(now, turn(out.segment));
        }
    }
    let mut rest = data;
    while let [length, ms, tail @ ..] = rest {
        let (bytes, next) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = next;
        now += Duration::from_millis(u64::from(*ms));
        let Ok(Parsed { mut header, set_up, tcp, payload_offset }) = Parsed::parse(bytes) else { continue };
        // Half of them guess the names of the connection.
        if ms % 2 == 0 {
            (header.source, header.destination) = (opening.header.source, far.own_name());
        }
        let payload_bytes = (bytes.len() - payload_offset) as u32;
        let path = opening.path;
        let set_up = set_up.map(Box::new);
        far.handle_input(now, Segment { path, header, set_up, tcp, payload_bytes, ecn: Ecn::Ce });
        if far.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
            far.handle_timeout(now);
        }
        while far.poll_transmit(now).is_some() {}
        while far.poll_event().is_some() {}
        far.audit().expect("its books are in order");
    }
}

/// Well-formed datagrams.
pub fn datagrams() -> Vec<Vec<u8>> {
    let set_up = SetUp {
        transmit_pipes: 3,
        receive_pipes: 2,
        window_shift: 4,
        token: 0x0123_4567_89ab_cdef,
        addresses: [client(), server()].into_iter().collect(),
    };
    let mut tcp =
        TcpHeader { source_port: 1, destination_port: 2, flags: TcpFlags::ACK, ..TcpHeader::default() };
    tcp.options.timestamps = Some(Timestamps { value: 7, echo: 9 });
    let header = PtcpHeader {
        pipe: 1,
        virtual_bytes: 40,
        source: 1,
        destination: 2,
        seq: SeqNumber(100),
        ack: SeqNumber(200),
    };
    let datagram = |set_up: Option<&SetUp>, flags: TcpFlags, payload: usize| {
        let mut out = vec![0; 256];
        let tcp = TcpHeader { flags, ..tcp };
        let length = emit(&header, set_up, &tcp, &mut out).expect("there is room");
        out.truncate(length + payload);
        out
    };
    vec![
        datagram(None, TcpFlags::ACK, 40),
        datagram(None, TcpFlags::ACK | TcpFlags::FIN, 0),
        datagram(Some(&set_up), TcpFlags::SYN, 0),
        datagram(Some(&set_up), TcpFlags::SYN | TcpFlags::ACK, 0),
        datagram(None, TcpFlags::RST, 0),
    ]
}

/// Several datagrams, each behind its length and a pause.
pub fn programs() -> Vec<Vec<u8>> {
    let all: Vec<u8> = datagrams()
        .into_iter()
        .flat_map(|datagram| [vec![datagram.len() as u8, 10], datagram].concat())
        .collect();
    vec![all]
}

/// Well-formed records.
pub fn records() -> Vec<Vec<u8>> {
    vec![RecordHeader { number: 7, payload_bytes: 988 }.emit().to_vec()]
}
