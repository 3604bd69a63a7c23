//! Our TCP against the Linux kernel's, byte for byte, through a TUN device in a network namespace of its own.
//!
//! Every test runs itself again in a child process inside a fresh namespace (as root, or in an unprivileged user
//! namespace), where kernel sockets talk to our connection over the device `ours0`. Impaired variants put
//! a link into the path that loses 2 % of the packets, duplicates, corrupts and reorders, in both
//! directions.
//!
//! `PRISMUX_INTEROP_BYTES` sets the size of every transfer, for instance `100000000`; without it clean transfers
//! carry 100 MB and impaired ones 20 MB (with the slow senders of old profiles, 4 MB).
mod content;
mod host;
mod kernel;
mod path;

use host::{Host, Plan};
use prismux_endpoint::random::Seed;
use prismux_linux::netconf;
use prismux_linux::tun::{Tun, TunError};
use prismux_tcp::{TcpConfig, TcpProfile};
use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};

const CHILD: &str = "PRISMUX_INTEROP_CHILD";
const DEVICE: &str = "ours0";
const KERNEL_PORT: u16 = 5001;
const OUR_PORT: u16 = 4001;

/// Who opens the connection.
#[derive(Clone, Copy, PartialEq)]
enum Opener {
    We,
    Kernel,
}

/// Who sends.
#[derive(Clone, Copy, PartialEq)]
enum Sender {
    We,
    Kernel,
    Both,
}

struct Case {
    opener: Opener,
    sender: Sender,
    impaired: bool,
    ipv6: bool,
    door: bool,
    config: TcpConfig,
    /// Unless the environment says otherwise.
    bytes: u64,
}

impl Case {
    fn new(opener: Opener, sender: Sender, impaired: bool) -> Self {
        let bytes = if impaired { 20_000_000 } else { 100_000_000 };
        Self { opener, sender, impaired, ipv6: false, door: false, config: TcpConfig::modern(), bytes }
    }

    fn bytes(&self) -> u64 {
        let asked = std::env::var("PRISMUX_INTEROP_BYTES").ok().and_then(|text| text.parse().ok());
        asked.unwrap_or(self.bytes)
    }

    fn plan(&self) -> Plan {
        let address = |v4: &str, v6: &str| -> IpAddr { if self.ipv6 { v6 } else { v4 }.parse().unwrap() };
        let bytes = self.bytes();
        Plan {
            ours: address("10.9.0.2", "fd09::2"),
            kernel: address("10.9.0.1", "fd09::1"),
            kernel_port: KERNEL_PORT,
            our_port: OUR_PORT,
            to_write: if self.sender == Sender::Kernel { 0 } else { bytes },
            to_read: if self.sender == Sender::We { 0 } else { bytes },
            impaired: self.impaired,
            door: self.door,
            seed: Seed(1),
        }
    }

    /// In the namespace.
    fn play(&self) {
        let plan = self.plan();
        let tun = Tun::create(DEVICE).unwrap_or_else(|error| panic!("{error}"));
        let prefix = format!("{}/{}", plan.kernel, if self.ipv6 { 64 } else { 24 });
        netconf::set_up(DEVICE, 1500).unwrap();
        netconf::add_address(DEVICE, prefix.parse().unwrap()).unwrap();
        let mut host = Host::new(plan, self.config.clone(), tun);
        let kernel = match self.opener {
            Opener::We => {
                let server =
                    kernel::serve(SocketAddr::new(plan.kernel, KERNEL_PORT), plan.to_read, plan.to_write);
                host.connect();
                server
            }
            Opener::Kernel => {
                kernel::connect(SocketAddr::new(plan.ours, OUR_PORT), plan.to_read, plan.to_write)
            }
        };
        let took = host.run().unwrap();
        kernel.join().expect("the kernel's application is content");
        assert_eq!(host.read_bytes(), plan.to_read, "we received as many bytes as the kernel sent");
        if self.impaired {
            assert!(host.bad_checksums() > 0, "some packets were corrupted: {}", host.describe());
        }
        if let Some(door) = host.door() {
            assert!(!door.is_agreed(), "the kernel does not know the option");
            let late = door.counters().late_acks;
            assert_eq!(late > 0, self.impaired, "{late} late ACKs: {}", host.describe());
        }
        let moved = (plan.to_write + plan.to_read) as f64;
        eprintln!("{moved} bytes in {took}: {:.0} Mbit/s", moved * 8e-6 / took.as_secs_f64());
        eprintln!("{}", host.describe());
    }

    /// Starts `test` again in a namespace and waits for it.
    fn run(&self, test: &str) {
        if std::env::var_os(CHILD).is_some() {
            self.play();
            return;
        }
        let Some(mut unshare) = namespace_command() else { return };
        let status = unshare
            .arg(std::env::current_exe().expect("our own path"))
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .stdin(Stdio::null())
            .status()
            .expect("start unshare");
        assert!(status.success(), "{test} failed in its namespace: {status}");
    }
}

/// A command that runs its arguments in a fresh network namespace; `None`, with the reason printed, where the
/// system allows none to us.
fn namespace_command() -> Option<Command> {
    let attempts: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];
    let mut refusals = String::new();
    for arguments in attempts {
        let mut probe = Command::new("unshare");
        let output = probe.args(arguments).args(["ip", "link", "show", "lo"]).output();
        match output {
            Ok(output) if output.status.success() => {
                if let Some(reason) = tun_refusal(arguments) {
                    refusals += &format!("\n  {reason}");
                    continue;
                }
                let mut command = Command::new("unshare");
                command.args(arguments);
                return Some(command);
            }
            Ok(output) => refusals += &format!("\n  {}", String::from_utf8_lossy(&output.stderr).trim()),
            Err(error) => refusals += &format!("\n  unshare (util-linux): {error}"),
        }
    }
    eprintln!("SKIPPED: needs root or unprivileged user namespaces, with /dev/net/tun:{refusals}");
    None
}

/// Why a process in such a namespace cannot open the TUN driver, if so.
fn tun_refusal(arguments: &[&str]) -> Option<String> {
    let mut probe = Command::new("unshare");
    probe.args(arguments).args(["sh", "-c", "exec 3<>/dev/net/tun"]);
    let output = probe.output().ok()?;
    (!output.status.success()).then(|| {
        let error = if std::path::Path::new("/dev/net/tun").exists() {
            TunError::NotPermitted
        } else {
            TunError::NoDriver
        };
        format!("{}: {error}", String::from_utf8_lossy(&output.stderr).trim())
    })
}

#[test]
fn we_connect_and_send() {
    Case::new(Opener::We, Sender::We, false).run("we_connect_and_send");
}

#[test]
fn the_kernel_connects_and_sends() {
    Case::new(Opener::Kernel, Sender::Kernel, false).run("the_kernel_connects_and_sends");
}

#[test]
fn the_kernel_connects_and_we_send_impaired() {
    Case::new(Opener::Kernel, Sender::We, true).run("the_kernel_connects_and_we_send_impaired");
}

#[test]
fn we_connect_and_the_kernel_sends_impaired() {
    Case::new(Opener::We, Sender::Kernel, true).run("we_connect_and_the_kernel_sends_impaired");
}

#[test]
fn both_send_at_once_impaired() {
    Case::new(Opener::We, Sender::Both, true).run("both_send_at_once_impaired");
}

#[test]
fn both_send_at_once_over_ipv6() {
    let case = Case { ipv6: true, ..Case::new(Opener::Kernel, Sender::Both, false) };
    case.run("both_send_at_once_over_ipv6");
}

#[test]
fn the_sender_of_2002_is_understood() {
    let mut config = TcpProfile::Ns2_2002.config();
    config.receive_buffer = prismux_units::ByteCount::new(1 << 20);
    config.consume_on_arrival = false;
    let case = Case { config, bytes: 4_000_000, ..Case::new(Opener::We, Sender::Both, true) };
    case.run("the_sender_of_2002_is_understood");
}

#[test]
fn a_linux_2_4_sender_is_understood() {
    let config = TcpProfile::Linux24.config();
    let case = Case { config, bytes: 4_000_000, ..Case::new(Opener::We, Sender::Both, true) };
    case.run("a_linux_2_4_sender_is_understood");
}

/// The kernel answers without the option: ACK numbers and its timestamps show the order. A path that keeps it shows no
/// event, one that reorders shows some, and every byte arrives over both.
#[test]
fn tcp_door_beside_a_kernel_that_keeps_the_order() {
    let case = Case { door: true, bytes: 20_000_000, ..Case::new(Opener::We, Sender::We, false) };
    case.run("tcp_door_beside_a_kernel_that_keeps_the_order");
}

#[test]
fn tcp_door_beside_a_kernel_over_a_path_that_reorders() {
    let case = Case { door: true, bytes: 4_000_000, ..Case::new(Opener::We, Sender::Both, true) };
    case.run("tcp_door_beside_a_kernel_over_a_path_that_reorders");
}
