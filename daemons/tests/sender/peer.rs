//! A receiver made by hand, behind a TUN device: it acknowledges what and when a test says, with any bytes as options.
use prismux_linux::namespace::Namespace;
use prismux_linux::netconf;
use prismux_linux::socket_option;
use prismux_linux::tun::Tun;
use prismux_wire::{IpHeader, SeqNumber, TcpFlags, TcpHeader, TcpOptions, TcpPacket, emit_tcp_segment};
use std::io::Write;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

const KERNEL: &str = "10.9.0.1";
const OURS: &str = "10.9.0.2";
const OUR_PORT: u16 = 4001;
/// Nothing here takes longer, unless it is broken.
const PATIENCE: Duration = Duration::from_secs(20);
/// More than any window here.
const WRITTEN: usize = 200_000;

/// A report as on the wire.
pub fn report(link: u8, flags: u8, keep: u16, lost: u32) -> Vec<u8> {
    let mut option = vec![253, 12, b'P', b'R', link, flags];
    option.extend(keep.to_be_bytes());
    option.extend(lost.to_be_bytes());
    option
}

pub struct Peer {
    tun: Tun,
    /// The kernel's end.
    sender: TcpStream,
    kernel_port: u16,
    seq: u32,
    acknowledged: u32,
    /// Beginning of the next segment that has not come yet.
    arrived: u32,
    _space: Namespace,
}

impl Peer {
    pub fn connect(congestion_control: &str) -> Self {
        Self::try_connect(congestion_control).expect("a congestion control that every kernel has")
    }

    /// `None` where the kernel has no such congestion control.
    pub fn try_connect(congestion_control: &str) -> Option<Self> {
        let space = Namespace::create().unwrap();
        let (tun, listener) = space
            .enter(|| {
                let tun = Tun::create("peer0").unwrap();
                for command in [
                    &*format!("address add {KERNEL}/24 dev peer0"),
                    "link set peer0 up mtu 1500",
                    // A busy machine must not look like a loss.
                    "route replace 10.9.0.0/24 dev peer0 rto_min 5s",
                ] {
                    netconf::ip(command).unwrap();
                }
                (tun, TcpListener::bind((KERNEL, 0)).unwrap())
            })
            .unwrap();
        let name = congestion_control.as_bytes();
        socket2::SockRef::from(&listener).set_tcp_congestion(name).ok()?;
        let kernel_port = listener.local_addr().unwrap().port();
        let mut peer = PendingPeer { tun, kernel_port };
        let (sequence, sender) = peer.shake_hands(&listener);
        let mut peer = Self {
            tun: peer.tun,
            sender,
            kernel_port,
            seq: 1001,
            acknowledged: sequence,
            arrived: sequence,
            _space: space,
        };
        // What the kernel takes is enough: nobody waits until it has all been acknowledged.
        peer.sender.set_nonblocking(true).unwrap();
        let written = peer.sender.write(&vec![7; WRITTEN]).unwrap();
        assert!(written > 20 * 1460, "{written}");
        peer.take_window();
        Some(peer)
    }

    /// The first byte that is not acknowledged.
    pub fn acknowledged(&self) -> u32 {
        self.acknowledged
    }

    pub fn window(&self) -> u32 {
        self.info(80)
    }

    pub fn threshold(&self) -> u32 {
        self.info(76)
    }

    pub fn congestion_control(&self) -> String {
        let mut name = [0; 16];
        socket_option::get_bytes(&self.sender, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &mut name).unwrap();
        String::from_utf8_lossy(&name).trim_end_matches('\0').to_string()
    }

    /// A word of `struct tcp_info`.
    fn info(&self, at: usize) -> u32 {
        let mut info = [0; 104];
        socket_option::get_bytes(self.sender.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut info).unwrap();
        u32::from_ne_bytes(info[at..at + 4].try_into().unwrap())
    }

    /// Acknowledges so many segments more, with these options.
    pub fn acknowledge(&mut self, segments: u32, options: &[u8]) {
        self.acknowledged += segments * 1460;
        self.send(self.seq, options);
    }

    /// An ACK whose sequence number is far outside of the window.
    pub fn acknowledge_from_afar(&mut self, options: &[u8]) {
        self.send(self.seq.wrapping_sub(1 << 30), options);
    }

    fn send(&mut self, seq: u32, options: &[u8]) {
        let (seq, ack) = (SeqNumber(seq), SeqNumber(self.acknowledged));
        send(&self.tun, &TcpHeader { seq, ack, window: 60_000, ..header(self.kernel_port) }, options);
    }

    /// Waits for the first window to have come.
    fn take_window(&mut self) {
        let end = self.acknowledged + self.window() * 1460;
        let deadline = Instant::now() + PATIENCE;
        while self.arrived < end {
            assert!(Instant::now() < deadline, "a window of data in time");
            for (packet, bytes) in receive(&self.tun) {
                let seq = packet.header.seq.0;
                if seq == self.arrived {
                    self.arrived += packet.payload(&bytes).len() as u32;
                }
            }
        }
    }
}

impl Drop for Peer {
    /// A connection that nobody ends would hold what it uses in the kernel for minutes.
    fn drop(&mut self) {
        let header = TcpHeader { flags: TcpFlags::RST | TcpFlags::ACK, ..header(self.kernel_port) };
        let header = TcpHeader { seq: SeqNumber(self.seq), ack: SeqNumber(self.acknowledged), ..header };
        send(&self.tun, &header, &[]);
    }
}

struct PendingPeer {
    tun: Tun,
    kernel_port: u16,
}

impl PendingPeer {
    /// Returns the kernel's first sequence number behind its SYN, and its end of the connection.
    fn shake_hands(&mut self, listener: &TcpListener) -> (u32, TcpStream) {
        let syn = TcpHeader {
            seq: SeqNumber(1000),
            flags: TcpFlags::SYN,
            window: 60_000,
            options: TcpOptions { mss: Some(1460), sack_permitted: true, ..TcpOptions::default() },
            ..header(self.kernel_port)
        };
        let mut segment = [0; 60];
        let length = syn.emit(&mut segment).unwrap();
        write(&self.tun, &segment[..length]);
        let deadline = Instant::now() + PATIENCE;
        let sequence = loop {
            assert!(Instant::now() < deadline, "an answer in time");
            let answer = receive(&self.tun);
            let is_answer = |packet: &TcpPacket| packet.header.flags.contains(TcpFlags::SYN | TcpFlags::ACK);
            if let Some((packet, _)) = answer.iter().find(|(packet, _)| is_answer(packet)) {
                break packet.header.seq.0 + 1;
            }
        };
        let ack = TcpHeader {
            seq: SeqNumber(1001),
            ack: SeqNumber(sequence),
            window: 60_000,
            ..header(self.kernel_port)
        };
        send(&self.tun, &ack, &[]);
        (sequence, listener.accept().unwrap().0)
    }
}

fn header(kernel_port: u16) -> TcpHeader {
    TcpHeader {
        source_port: OUR_PORT,
        destination_port: kernel_port,
        flags: TcpFlags::ACK,
        ..TcpHeader::default()
    }
}

/// Sends a segment without data and with these options, as they are.
fn send(tun: &Tun, header: &TcpHeader, options: &[u8]) {
    let mut segment = [0; 60];
    let fixed = header.emit(&mut segment).unwrap();
    segment[fixed..fixed + options.len()].copy_from_slice(options);
    let length = (fixed + options.len()).next_multiple_of(4);
    segment[fixed + options.len()..length].fill(1);
    segment[12] = (length as u8 / 4) << 4;
    write(tun, &segment[..length]);
}

fn write(tun: &Tun, segment: &[u8]) {
    let address = |text: &str| -> IpAddr { text.parse().unwrap() };
    let ip = IpHeader::new(address(OURS), address(KERNEL), 6);
    let mut packet = [0; 200];
    let length = emit_tcp_segment(&ip, segment, &mut packet).unwrap();
    tun.write(&packet[..length]).unwrap();
    // What is written to a TUN device is dealt with before the call returns.
}

/// What has come, after a short wait if nothing has.
fn receive(tun: &Tun) -> Vec<(TcpPacket, Vec<u8>)> {
    let (mut packets, mut buffer) = (Vec::new(), [0; 2000]);
    while let Ok(length) = tun.read(&mut buffer) {
        if let Ok(packet) = TcpPacket::parse(&buffer[..length]) {
            packets.push((packet, buffer[..length].to_vec()));
        }
    }
    if packets.is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    packets
}
