//! Two neighbours who lend to each other, each with a proxy and a member of one key, and what both sign of it:
//!
//! ```text
//!   kitchen 10.9.0.1 (receiver of ann's: 10.77.0.2) ─ 10.9.0.2 ann (receiver of the kitchen's: 10.78.0.2)
//! ```
use crate::network::{Machine, ip, space, wait_for, wire};
use serde_json::Value;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

const KITCHEN: (&str, &str) = ("10.9.0.1", "10.78.0.2");
const ANN: (&str, &str) = ("10.9.0.2", "10.77.0.2");

/// Nobody waits longer for the next byte of what is to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// One of the two: what it runs, its address, the receiver that its proxy serves, and its key.
struct House {
    machine: Machine,
    name: &'static str,
    address: &'static str,
    receiver: &'static str,
    key: String,
}

impl House {
    fn new(name: &'static str, (address, receiver): (&'static str, &'static str)) -> Self {
        let machine = Machine::start(space());
        let key = machine.run("prismux keygen /etc/key").trim().to_owned();
        Self { machine, name, address, receiver, key }
    }

    /// Has its member lend to the other's proxy, with `more` in the member's file.
    fn lend_to(&self, other: &Self, more: &str) {
        let receiver = other.receiver;
        ip(&self.machine.space, &format!("address add {receiver}/32 dev lo"));
        other.machine.append("/etc/proxy.toml", &format!(
            "receivers = [\"{receiver}/32\"]\nprivate_key_file = \"/etc/key\"\n[tunnel]\nsealed = \"0.0.0.0:51820\"\n\
             [[peers]]\nname = \"{}\"\npublic_key = \"{}\"\n",
            self.name, self.key,
        ));
        self.machine.append("/etc/member.toml", &format!(
            "name = \"{}\"\nprivate_key_file = \"/etc/key\"\nreceivers = [\"{receiver}/32\"]\n\
             [tun]\nname = \"lend0\"\n\
             [tunnel]\nproxy = \"sealed:{}:51820\"\nproxy_public_key = \"{}\"\n[credit]\nsign_every = \"1 s\"\n{more}",
            self.name, other.address, other.key,
        ));
        other.machine.spawn("prismux proxy --config /etc/proxy.toml");
        self.start();
    }

    fn start(&self) {
        self.machine.spawn("prismux member --config /etc/member.toml");
        wait_for("the member registers", || self.page("member")["state"] == "registered");
    }

    fn signal(&self, signal: &str) {
        self.machine.run(&format!("kill -{signal} {}", self.page("member")["pid"]));
        wait_for("the member has ended", || self.page("member").is_null());
    }

    fn page(&self, role: &str) -> Value {
        let (_, said) =
            self.machine.try_run(&format!("prismux status --json --socket /run/prismux/{role}.sock"));
        serde_json::from_str(&said).unwrap_or_default()
    }

    /// What its member and the borrower have signed, as its member says.
    fn lent(&self, what: &str) -> u64 {
        self.page("member")["statements"][what].as_u64().unwrap_or_default()
    }

    /// What its proxy and the lender have signed, as its proxy says.
    fn borrowed(&self, what: &str) -> u64 {
        self.page("proxy")["links"][0]["statements"][what].as_u64().unwrap_or_default()
    }
}

fn houses() -> (House, House) {
    let (kitchen, ann) = (House::new("kitchen", KITCHEN), House::new("ann", ANN));
    wire(&kitchen.machine.space, "eth0", "10.9.0.1/24", &ann.machine.space, "eth0", "10.9.0.2/24");
    (kitchen, ann)
}

/// The receiver of `borrower` downloads over the lender's link; true when all has come, and never nothing for longer
/// than `patience`.
fn download(lender: &House, borrower: &House, bytes: usize, patience: Duration) -> bool {
    let server = SocketAddr::new(borrower.address.parse().unwrap(), 0);
    let listener = borrower.machine.space.enter(|| TcpListener::bind(server)).unwrap().unwrap();
    let server = listener.local_addr().unwrap();
    let receiver = SocketAddr::new(lender_receiver(borrower), 0);
    let open = || -> std::io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&receiver.into())?;
        socket.set_read_timeout(Some(patience))?;
        socket.connect_timeout(&server.into(), Duration::from_secs(5))?;
        Ok(socket)
    };
    thread::scope(|scope| {
        let Ok(mut socket) = lender.machine.space.enter(open).unwrap() else { return false };
        scope.spawn(move || {
            let (mut stream, _) = listener.accept()?;
            stream.set_write_timeout(Some(patience))?;
            stream.write_all(&vec![7; bytes])
        });
        let mut came = Vec::new();
        socket.read_to_end(&mut came).is_ok() && came.len() == bytes
    })
}

fn lender_receiver(borrower: &House) -> IpAddr {
    borrower.receiver.parse().unwrap()
}

pub fn signed_by_both() {
    let (kitchen, ann) = houses();
    kitchen.lend_to(&ann, "");
    assert!(download(&kitchen, &ann, 3_000_000, PATIENCE));
    wait_for("both have signed for it", || {
        kitchen.lent("signed_bytes") > 3_000_000 && kitchen.lent("unsigned_bytes") < 10_000
    });
    wait_for("and both have it", || ann.borrowed("signed_bytes") == kitchen.lent("signed_bytes"));
    let exported = kitchen.machine.run("prismux accounts --signed --json");
    let statements: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(statements[0]["lender"]["key"], kitchen.key.as_str());
    assert_eq!(statements[0]["borrower"]["key"], ann.key.as_str());
    assert!(statements[0]["forward_bytes"].as_u64() > Some(3_000_000), "{exported}");

    // Somebody else, who has the file alone and is told the keys.
    let third = Machine::start(space());
    third.append("/etc/true.json", &exported);
    let keys = ["lender", "borrower"].map(|who| statements[0][who]["verifying"].as_str().unwrap().to_owned());
    let said = third
        .run(&format!("prismux accounts --verify /etc/true.json --trust {} --trust {}", keys[0], keys[1]));
    assert!(said.contains("signed by both"), "{said}");
    let more = exported.replacen("\"forward_bytes\": 3", "\"forward_bytes\": 4", 1);
    assert_ne!(more, exported);
    third.append("/etc/forged.json", &more);
    let (is_true, said) = third.try_run("prismux accounts --verify /etc/forged.json");
    assert!(!is_true && said.contains("signature is not of this statement"), "{said}");
    let (is_true, said) =
        third.try_run(&format!("prismux accounts --verify /etc/true.json --trust {}", keys[0]));
    assert!(!is_true && said.contains("the borrower has signed with"), "{said}");

    let before = kitchen.lent("signed_bytes");
    kitchen.signal("KILL");
    kitchen.start();
    assert!(kitchen.lent("signed_bytes") >= before, "what is signed outlives the daemon");
    assert!(download(&kitchen, &ann, 200_000, PATIENCE));
    kitchen.signal("TERM");
    wait_for("what was carried last is signed at leave", || {
        ann.borrowed("signed_bytes") > before + 200_000 && ann.borrowed("unsigned_bytes") < 50_000
    });
}

/// The kitchen lends on credit; what ann owes comes back when her member lends to the kitchen's proxy.
pub fn on_credit() {
    let (kitchen, ann) = houses();
    kitchen.lend_to(&ann, "limit = \"4 MB\"\n");
    assert!(download(&kitchen, &ann, 1_000_000, PATIENCE));
    assert!(!download(&kitchen, &ann, 20_000_000, Duration::from_secs(2)), "more than the credit");
    let rests = || kitchen.page("member")["rests"].as_str().unwrap_or_default().to_owned();
    wait_for("the limit is reached", || rests().contains("owes the 4 MB of its credit"));
    let owed = kitchen.page("member")["credit"]["owed_bytes"].as_u64().unwrap();
    assert!((3_900_000..5_000_000).contains(&owed), "{owed}");
    let said = kitchen.machine.run("prismux explain kitchen");
    assert!(said.starts_with("kitchen is not used: its borrower owes the 4 MB of its credit"), "{said}");
    let events = kitchen.page("member")["events"].to_string();
    assert!(events.contains("its borrower owes the 4 MB of its credit"), "{events}");
    wait_for("ann's proxy has no link", || ann.page("proxy")["links"][0]["up"] == false);

    ann.lend_to(&kitchen, "");
    assert!(download(&ann, &kitchen, 3_000_000, PATIENCE));
    wait_for("it is lent again", || rests().is_empty() && kitchen.page("member")["state"] == "registered");
    assert!(kitchen.page("member")["credit"]["repaid_bytes"].as_u64() > Some(1_000_000));
    assert!(download(&kitchen, &ann, 500_000, PATIENCE));
    let dealings: Value =
        serde_json::from_str(&kitchen.machine.run("prismux accounts --credit --json")).unwrap();
    assert_eq!(dealings[0]["key"], ann.key.as_str());
    assert!(dealings[0]["borrowed_bytes"].as_u64() > Some(1_000_000), "{dealings}");
    assert!(dealings[0]["lent_bytes"].as_u64() > Some(1_000_000), "{dealings}");
}

/// A box on a battery lends until it is as empty as its owner likes, and again once it is charged.
pub fn until_the_battery_is_low() {
    let (kitchen, ann) = houses();
    let machine = &kitchen.machine;
    machine.run("mkdir -p /var/lib/prismux/supplies/BAT0");
    for (file, text) in [("type", "Battery"), ("low", "29"), ("high", "35"), ("capacity", "60")] {
        machine.append(&format!("/var/lib/prismux/supplies/BAT0/{file}"), text);
    }
    let charge = |level: &str| {
        let folder = "/var/lib/prismux/supplies/BAT0";
        machine.run(&format!("cp {folder}/{level} {folder}/capacity"));
    };
    let supplies = "[sharing]\nbattery_floor = \"30 %\"\npower_supplies = \"/var/lib/prismux/supplies\"\n";
    kitchen.lend_to(&ann, supplies);
    assert!(download(&kitchen, &ann, 200_000, PATIENCE));
    charge("low");
    wait_for("it rests", || kitchen.page("member")["rests"].is_string());
    let said = machine.run("prismux explain kitchen");
    assert_eq!(said.trim(), "kitchen is not used: its battery is below 30 %, and nothing charges it.");
    wait_for("ann's proxy has no link", || ann.page("proxy")["links"][0]["up"] == false);
    charge("high");
    wait_for("it is lent again", || kitchen.page("member")["state"] == "registered");
    assert!(download(&kitchen, &ann, 200_000, PATIENCE));
}
