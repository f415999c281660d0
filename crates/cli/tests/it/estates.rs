//! The estates in `examples`: each is applied, changed, repaired after drift, and destroyed.

use crate::common::Folder;

/// A change of an estate by somebody else.
struct Drift {
    type_name: &'static str,
    /// The end of the identifier.
    identifier: &'static str,
    patch: &'static str,
    /// The address of the changed resource.
    address: &'static str,
}

/// The life of an estate: `objects` are created, and the variable `change` updates `updated` of them.
struct Estate {
    example: &'static str,
    objects: usize,
    change: &'static str,
    updated: usize,
    drift: Drift,
}

fn live(estate: Estate) {
    let Estate { example, objects, change, updated, drift } = estate;
    let folder = Folder::new();
    folder.copy(&format!("examples/{example}"));
    let settled = |arguments: &[&str]| {
        let ran = folder.run(&[&["plan", "-detailed-exitcode"], arguments].concat());
        assert_eq!(ran.code, 0, "{example}: {}{}", ran.out, ran.err);
    };
    let applied = |arguments: &[&str], counts: &str| {
        let out = folder.ok(&[&["apply", "-auto-approve"], arguments].concat());
        assert!(out.contains(&format!("Resources: {counts}.")), "{example}: {out}");
    };
    applied(&[], &format!("{objects} added, 0 changed, 0 destroyed"));
    settled(&[]);

    let variable = format!("-var={change}");
    applied(&[&variable], &format!("0 added, {updated} changed, 0 destroyed"));
    settled(&[&variable]);

    let listed = folder.ok(&["emulator", "list", drift.type_name]);
    let found = listed.lines().find(|line| line.ends_with(drift.identifier)).unwrap();
    let identifier = found.split_once(' ').unwrap().1;
    folder.ok(&["emulator", "patch", drift.type_name, identifier, drift.patch]);
    let planned = folder.ok(&["plan", &variable]);
    assert!(planned.contains(&format!("# {} will be updated in-place", drift.address)), "{example}: {planned}");
    applied(&[&variable], "0 added, 1 changed, 0 destroyed");
    settled(&[&variable]);

    folder.ok(&["destroy", "-auto-approve", &variable]);
    assert_eq!(folder.ok(&["emulator", "list"]), "", "{example}");
}

#[test]
fn static_site() {
    live(Estate {
        example: "static-site",
        objects: 6,
        change: "price_class=PriceClass_All",
        updated: 1,
        drift: Drift {
            type_name: "AWS::S3::Bucket",
            identifier: "www-example-com-files",
            patch: r#"[{"op": "replace", "path": "/VersioningConfiguration/Status", "value": "Suspended"}]"#,
            address: "awscc_s3_bucket.files",
        },
    });
}

#[test]
fn container_service() {
    live(Estate {
        example: "container-service",
        objects: 10,
        change: "tasks=4",
        updated: 1,
        drift: Drift {
            type_name: "AWS::Logs::LogGroup",
            identifier: "/ecs/shop/web",
            patch: r#"[{"op": "remove", "path": "/RetentionInDays"}]"#,
            address: "awscc_logs_log_group.web",
        },
    });
}

#[test]
fn serverless_api() {
    live(Estate {
        example: "serverless-api",
        objects: 13,
        change: r#"functions={"GET /notes" = 512, "POST /notes" = 512}"#,
        updated: 2,
        drift: Drift {
            type_name: "AWS::Lambda::Function",
            identifier: "notes-get-notes",
            patch: r#"[{"op": "replace", "path": "/Timeout", "value": 900}]"#,
            address: r#"awscc_lambda_function.route["GET /notes"]"#,
        },
    });
}

#[test]
fn data_pipeline() {
    live(Estate {
        example: "data-pipeline",
        objects: 9,
        change: "retention_hours=48",
        updated: 1,
        drift: Drift {
            type_name: "AWS::Events::Rule",
            identifier: "clicks-nightly",
            patch: r#"[{"op": "replace", "path": "/ScheduleExpression", "value": "rate(1 day)"}]"#,
            address: "awscc_events_rule.nightly",
        },
    });
}

#[test]
fn landing_zone_network() {
    live(Estate {
        example: "landing-zone-network",
        objects: 23,
        change: "flow_log_retention_in_days=365",
        updated: 1,
        drift: Drift {
            type_name: "AWS::EC2::VPC",
            identifier: "",
            patch: r#"[{"op": "replace", "path": "/EnableDnsHostnames", "value": false}]"#,
            address: "awscc_ec2_vpc.main",
        },
    });
}
