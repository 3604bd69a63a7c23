//! Programs of the user's own on the nodes of a lab.
use crate::plans::{A, B, RECEIVER, SERVER, community, download, link, options, run, seconds, two_hosts};
use prismux_lab as lab;
use prismux_plan::{Flow, Transport};
use prismux_units::ByteCount;
use socket2::{Domain, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;

const SERVED_BYTES: usize = 3_000_000;

/// This process is a server that a lab has started: it serves one caller.
pub fn serve(listen: &str) -> ExitCode {
    let serve = || -> io::Result<()> {
        let (mut caller, _) = TcpListener::bind(listen)?.accept()?;
        caller.write_all(&vec![7; SERVED_BYTES])
    };
    exit_code(serve())
}

/// This process is a client that a lab has started: it says how many bytes came.
pub fn fetch(server: &str, own: &str) -> ExitCode {
    let parse = |text: &str| text.parse::<SocketAddr>().map_err(io::Error::other);
    let fetch = || -> io::Result<()> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&parse(own)?.into())?;
        socket.connect(&parse(server)?.into())?;
        let mut bytes = Vec::new();
        std::net::TcpStream::from(socket).read_to_end(&mut bytes)?;
        println!("{} bytes", bytes.len());
        Ok(())
    };
    exit_code(fetch())
}

fn exit_code(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A program's data come by the same way as those of the flow whose address it uses: over both members.
pub fn by_the_way_of_a_flow() {
    let short = download(Transport::Tcp).bytes(ByteCount::new(20_000));
    let mut plan = community(12.0, &[link(4, 10), link(4, 10)], short);
    plan.program("server", SERVER, &["/proc/self/exe", "serve", "{server}:7000"]);
    plan.program("client", RECEIVER, &["/proc/self/exe", "fetch", "{server}:7000", "{download}:0"]);
    plan.programs[1].start = seconds(0.5);
    let result = run(&plan).result;
    let client = &result.programs["client"];
    assert_eq!((client.exit_status, client.output.as_str()), (Some(0), "3000000 bytes\n"), "{client:?}");
    assert_eq!(result.programs["server"].exit_status, Some(0));
    for wwan in ["wwan1", "wwan2"] {
        let carried = result.links[wwan].delivered_bytes;
        assert!(carried > SERVED_BYTES as u64 / 5, "{wwan} carried {carried} bytes");
    }
    // The run is over when its programs are.
    assert!(result.duration_s > 0.5 && result.duration_s < 11.0, "{}", result.duration_s);
}

/// What a program writes and how it ends is told; at its time it ends, with all that it has started.
pub fn end() {
    // A time that no other process sleeps.
    let nap = format!("{}.25", 40_000 + std::process::id());
    let sleepers = || {
        let commands = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let commands =
            commands.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
        commands.filter(|command| *command == format!("sleep\0{nap}\0")).count()
    };
    let mut plan = two_hosts(2.0, link(1, 1), Flow::new("bulk", A, B, Transport::Tcp));
    plan.flows.clear();
    plan.program("speaker", A, &["sh", "-c", "echo said; echo wrong >&2; exit 3"]);
    plan.program("sleeper", B, &["sh", "-c", &format!("sleep {nap} & sleep {nap}")]);
    plan.programs[1].stop = Some(seconds(1.0));
    let result = run(&plan).result;
    let speaker = &result.programs["speaker"];
    assert_eq!((speaker.exit_status, &*speaker.output, &*speaker.errors), (Some(3), "said\n", "wrong\n"));
    let sleeper = &result.programs["sleeper"];
    assert_eq!(sleeper.exit_status, None);
    assert!(sleeper.ended_s > 0.9 && sleeper.ended_s < 1.8, "ended at {} s", sleeper.ended_s);
    assert_eq!(sleepers(), 0);
}

/// One that is not there ends the run, which says so.
pub fn missing() {
    let mut plan = two_hosts(30.0, link(1, 1), Flow::new("bulk", A, B, Transport::Tcp));
    plan.program("nothing", A, &["/there/is/no/such/program"]);
    let begin = std::time::Instant::now();
    let error = lab::run(&plan, &options()).expect_err("a refusal").to_string();
    assert!(error.contains("program \"nothing\" cannot be run"), "{error}");
    assert!(begin.elapsed().as_secs() < 20, "it took {:?}", begin.elapsed());
}
