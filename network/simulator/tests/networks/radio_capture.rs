//! Captures of a radio medium: frames as bytes that other programs read.
use prismux_dsr::{DsrConfig, DsrHeader};
use prismux_endpoint::random::Seed;
use prismux_plan::{Flow, MediumModel, NodeId, Plan, Radio, Routing, TcpSettings, Transport};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_tcp::TcpProfile;
use prismux_trace::SharedBytes;
use prismux_trace::pcapng;
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::{IpPacket, TcpPacket};
use prismux_wireless::{MacConfig, Mobility, Position, RadioConfig};

/// A frame behind its radiotap header.
struct Frame {
    control: u16,
    /// The packet of a data frame, from its IP header on.
    packet: Vec<u8>,
}

const RTS: u16 = 0x00b4;
const CTS: u16 = 0x00c4;
const DATA: u16 = 0x0008;
const ACK: u16 = 0x00d4;
const MAC_AND_SNAP_BYTES: usize = 24 + 8;

fn frame(bytes: &[u8]) -> Frame {
    let radiotap = usize::from(u16::from_le_bytes([bytes[2], bytes[3]]));
    let frame = &bytes[radiotap..];
    let packet = frame.get(MAC_AND_SNAP_BYTES..).unwrap_or_default().to_vec();
    Frame { control: u16::from_le_bytes([frame[0], frame[1]]), packet }
}

/// A file of 5000 bytes over three hosts in a row, 200 m apart.
fn captured(routing: Routing) -> Vec<Frame> {
    let mut plan = Plan::new("captured", Duration::from_secs(30));
    let hosts: Vec<NodeId> = (0..3).map(|host| plan.host(&format!("h{host}"))).collect();
    let place = |k: u32| Mobility::Static(Position { x_m: 200.0 * f64::from(k), y_m: 0.0 });
    let radio = Radio::new(RadioConfig::wavelan(), MacConfig::ns2(), (0..3).map(place).collect(), routing);
    plan.medium("air", &hosts, MediumModel::Radio(Box::new(radio)));
    let file = Flow::new("file", hosts[0], hosts[2], Transport::Tcp).bytes(ByteCount::new(5000));
    plan.flow(file.tcp(TcpSettings::profile(TcpProfile::Ns2_2002)));
    let bytes = SharedBytes::default();
    let options =
        SimulationOptions { capture: Some(Box::new(bytes.clone())), ..SimulationOptions::checked() };
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(30));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation.finish().unwrap();
    let bytes = bytes.take();
    let capture = pcapng::read(&bytes).unwrap();
    assert_eq!(capture.interfaces.len(), 1);
    assert_eq!(capture.interfaces[0].name, "air");
    assert!(capture.packets.is_sorted_by_key(|packet| packet.at));
    capture.packets.iter().map(|packet| frame(&packet.bytes)).collect()
}

/// Every packet for a neighbour is in an exchange of four frames; both hops of each data segment are there, behind the
/// source route that it took.
#[test]
fn an_exchange_is_four_frames_and_a_segment_stands_behind_its_source_route() {
    let frames = captured(Routing::Dsr(DsrConfig::ns2()));
    let exchanges = frames.windows(4).filter(|four| {
        let controls: Vec<u16> = four.iter().map(|frame| frame.control).collect();
        controls == [RTS, CTS, DATA, ACK]
    });
    // At least five segments and their acknowledgements, over two hops each.
    assert!(exchanges.count() >= 2 * (5 + 5));
    let (mut requests, mut payload) = (0, 0);
    for Frame { packet, .. } in frames.iter().filter(|frame| frame.control == DATA) {
        let ip = IpPacket::parse(packet).unwrap();
        assert_eq!((ip.header.protocol, ip.total_bytes), (48, packet.len()));
        let parsed = DsrHeader::parse(ip.payload(packet)).unwrap();
        requests += u32::from(parsed.header.route_request().is_some());
        if parsed.next_header == 6 {
            assert!(parsed.header.source_route().is_some());
            // The segment as its receiver sees it: behind the IP header alone.
            let mut inner = packet[..20].to_vec();
            inner.extend_from_slice(&ip.payload(packet)[parsed.header_bytes..]);
            inner[9] = 6;
            let length = (inner.len() as u16).to_be_bytes();
            inner[2..4].copy_from_slice(&length);
            inner[10..12].fill(0);
            let checksum = prismux_wire::checksum::checksum(&inner[..20]).to_be_bytes();
            inner[10..12].copy_from_slice(&checksum);
            let segment = TcpPacket::parse(&inner).unwrap();
            segment.verify_checksum(&inner).unwrap();
            payload += segment.payload_bytes();
        }
    }
    assert!(requests > 0);
    assert!(payload >= 2 * 5000, "{payload} bytes over two hops");
}

/// Messages of AODV stand in UDP on port 654, data in plain IP.
#[test]
fn messages_of_aodv_stand_in_datagrams() {
    let frames = captured(Routing::Aodv(prismux_aodv::AodvConfig::ns2()));
    let (mut messages, mut segments) = (0, 0);
    for Frame { packet, .. } in frames.iter().filter(|frame| frame.control == DATA) {
        let ip = IpPacket::parse(packet).unwrap();
        match ip.header.protocol {
            17 => {
                let udp = prismux_wire::UdpPacket::parse(packet).unwrap();
                assert_eq!(udp.header.destination_port, 654);
                prismux_aodv::AodvHeader::parse(udp.payload(packet)).unwrap();
                messages += 1;
            }
            6 => {
                TcpPacket::parse(packet).unwrap().verify_checksum(packet).unwrap();
                segments += 1;
            }
            other => panic!("protocol {other}"),
        }
    }
    assert!(messages >= 3 && segments >= 20, "{messages} messages, {segments} segments");
}
