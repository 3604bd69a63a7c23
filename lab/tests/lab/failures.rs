//! What goes wrong is told with its remedy.
use crate::plans::{A, B, community, download, link, options, two_hosts};
use prismux_lab::{self as lab, DaemonCommand, LabError, LabOptions};
use prismux_plan::{Flow, Plan, TcpSettings, Transport};
use prismux_tcp::TcpProfile;

pub fn errors() {
    let flow = |transport| Flow::new("f", A, B, transport);
    let error = |plan: &Plan| lab::run(plan, &options()).expect_err("an error").to_string();
    let mut odds = two_hosts(1.0, link(1, 1), flow(Transport::Tcp));
    let era = TcpSettings::profile(TcpProfile::Linux24);
    odds.flow(Flow { name: "g".to_owned(), ..flow(Transport::Tcp) }.tcp(era));
    let said = error(&odds);
    assert!(said.contains("\"a\"") && said.contains("nodes of their own"), "{said}");
    let said = error(&two_hosts(1.0, link(1, 1), flow(Transport::TcpEln)));
    assert!(said.contains("\"tcp-eln\"") && said.contains("--on sim"), "{said}");
    let said =
        error(&two_hosts(1.0, link(1, 1), flow(Transport::Mptcp(prismux_plan::MptcpSettings::DEFAULT))));
    assert!(said.contains("members"), "{said}");

    let shell = |script: &str| vec!["-c".into(), script.into()];
    let broken = DaemonCommand {
        program: "/bin/sh".into(),
        proxy: shell("echo out of order >&2; exit 3"),
        member: shell("sleep 5"),
        ..DaemonCommand::default()
    };
    let options = LabOptions { daemons: broken, ..options() };
    let plan = community(5.0, &[link(1, 1)], download(Transport::Tcp));
    match lab::run(&plan, &options) {
        Err(LabError::Daemon { node, ended }) => {
            assert_eq!(node, "proxy");
            assert!(ended.contains("exit status: 3") && ended.contains("out of order"), "{ended}");
        }
        other => panic!("{other:?}"),
    }
}
