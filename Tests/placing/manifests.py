"""Checks the files of deploy/ that other programs read, against those programs' schemas and a few rules of ours.

    manifests.py DEPLOY [SBOM]
    manifests.py --pod CONFIGURATION AUTHORITIES SECRETS

Kubernetes: each overlay is rendered where kubectl is in reach; otherwise its resources are read as they stand. Compose:
the file as compose-spec reads it. SBOM: CycloneDX 1.5. The schemas are those of the pinned Python packages.
"""

import pathlib
import shutil
import subprocess
import sys

import kubernetes_validate
import yaml
from compose_spec import PyCompose
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

# The oldest Kubernetes with native sidecars by default, and a recent one.
KUBERNETES = ["1.29", "1.34"]


def expect(condition: bool, sentence: str) -> None:
    if not condition:
        sys.exit(f"error: {sentence}")


def overlays(directory: pathlib.Path) -> dict[str, list[dict]]:
    folders = [directory / "base", *sorted((directory / "overlays").iterdir()), directory / "tokens"]
    found = {}
    for folder in folders:
        if shutil.which("kubectl"):
            text = subprocess.run(["kubectl", "kustomize", folder], check=True, capture_output=True, text=True).stdout
        else:
            # A patch is a part of a resource and has no meaning of its own.
            kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
            files = [folder / name for name in kustomization["resources"] if (folder / name).is_file()]
            text = "\n---\n".join(file.read_text() for file in files)
        found[folder.name] = [document for document in yaml.safe_load_all(text) if document]
    return found


def check_pod(name: str, pod: dict) -> None:
    """The rules of Kubernetes' restricted pod security standard, and of the proxy, a native sidecar or alone."""
    shared = pod["securityContext"]
    expect(shared["runAsNonRoot"] is True and shared["seccompProfile"] == {"type": "RuntimeDefault"},
           f"{name}: the pod runs as nobody with the default seccomp profile")
    expect(pod["automountServiceAccountToken"] is False, f"{name}: no token of the cluster is mounted")
    sidecars = pod.get("initContainers", [])
    for container in sidecars + pod["containers"]:
        own = container["securityContext"]
        expect(
            own["capabilities"] == {"drop": ["ALL"]}
            and own["allowPrivilegeEscalation"] is False
            and own["readOnlyRootFilesystem"] is True,
            f"{name}: {container['name']} has no right that it could lose",
        )
    proxy = next(container for container in sidecars + pod["containers"] if container["name"] == "bearer-proxy")
    expect(proxy in pod["containers"] or proxy["restartPolicy"] == "Always", f"{name}: the proxy is a native sidecar")
    ports = {port["name"] for port in proxy["ports"]}
    for probe, path in {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}.items():
        request = proxy[probe]["httpGet"]
        expect(request["path"] == path and request["port"] in ports, f"{name}: {probe} asks for {path}")
    mounted = {mount["name"] for mount in proxy["volumeMounts"]}
    expect(mounted <= {volume["name"] for volume in pod["volumes"]}, f"{name}: every mount has its volume")
    for container in pod["containers"]:
        theirs = {mount["name"] for mount in container.get("volumeMounts", []) if container is not proxy}
        expect(not theirs & mounted, f"{name}: {container['name']} sees no file of the proxy's")


def check_kubernetes(directory: pathlib.Path) -> None:
    rendered = overlays(directory)
    for name, documents in rendered.items():
        for document in documents:
            for version in KUBERNETES:
                kubernetes_validate.validate(document, version, strict=True)
        kinds = {document["kind"]: document for document in documents}
        if "Deployment" not in kinds:
            continue
        template = kinds["Deployment"]["spec"]["template"]
        check_pod(name, template["spec"])
        selected = kinds["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]
        expect(selected.items() <= template["metadata"]["labels"].items(), f"{name}: the policy is about the pod")
        if shutil.which("kubectl"):
            expect("proxy.yaml" in kinds["ConfigMap"]["data"], f"{name}: the configuration is in the ConfigMap")
            mounted = {volume["configMap"]["name"] for volume in template["spec"]["volumes"] if "configMap" in volume}
            expect(mounted == {kinds["ConfigMap"]["metadata"]["name"]}, f"{name}: the pod mounts that ConfigMap")
    # No schemas of these are among the pinned packages.
    for file in ("istio.yaml", "gateway-api.yaml"):
        for document in yaml.safe_load_all((directory / "tokens" / file).read_text()):
            expect({"apiVersion", "kind", "metadata", "spec"} == set(document), f"{file}: resources are whole")
    how = "rendered by kubectl" if shutil.which("kubectl") else "not rendered: there is no kubectl here"
    print(f"  Kubernetes {' and '.join(KUBERNETES)} accept {', '.join(rendered)} ({how})")


def check_compose(file: pathlib.Path) -> None:
    text = file.read_text()
    PyCompose.from_yaml(text).validate()
    document = yaml.safe_load(text)
    proxy, app = document["services"]["bearer-proxy"], document["services"]["app"]
    expect(proxy["read_only"] is True and proxy["cap_drop"] == ["ALL"] and proxy["user"] == "65532:65532",
           "compose: the proxy has a read-only root, no capability and no root user")
    expect(app["network_mode"] == "service:bearer-proxy", "compose: the app shares the proxy's loopback")
    expect((file.parent / document["configs"]["proxy"]["file"]).is_file(), "compose: the configuration is there")
    print("  compose-spec accepts compose.yaml")


def check_programs(directory: pathlib.Path) -> None:
    """The recipes for a program with an SDK of Azure, beside the proxy."""
    endpoint = "http://127.0.0.1:8081/msi/token"
    documents = list(yaml.safe_load_all((directory / "kubernetes.yaml").read_text()))
    for document in documents:
        for version in KUBERNETES:
            kubernetes_validate.validate(document, version, strict=True)
    pod = documents[0]["spec"]["template"]["spec"]
    (proxy,), (program,) = pod["initContainers"], pod["containers"]
    expect(proxy["restartPolicy"] == "Always", "programs: the proxy is a native sidecar")
    mounted = {mount["name"] for mount in proxy["volumeMounts"]}
    expect(mounted == {volume["name"] for volume in pod["volumes"]}, "programs: every mount has its volume")
    expect("volumeMounts" not in program, "programs: the program sees no file of the proxy's")
    variables = {variable["name"]: variable for variable in program["env"]}
    expect(variables["IDENTITY_ENDPOINT"]["value"] == endpoint and "valueFrom" in variables["IDENTITY_HEADER"],
           "programs: the program has its variables, the secret from a Secret")
    text = (directory / "compose.yaml").read_text()
    PyCompose.from_yaml(text).validate()
    services = yaml.safe_load(text)["services"]
    expect(services["reports"]["network_mode"] == "service:bearer-proxy", "programs: they share loopback")
    expect(services["reports"]["environment"]["IDENTITY_ENDPOINT"] == endpoint, "programs: compose has the address")
    expect("volumes" not in services["reports"], "programs: compose mounts nothing of the proxy's in the program")
    print("  Kubernetes and compose-spec accept the recipes for programs")


def check_sbom(file: pathlib.Path) -> None:
    problem = JsonStrictValidator(SchemaVersion.V1_5).validate_str(file.read_text())
    expect(problem is None, f"{file}: {problem}")
    print("  CycloneDX 1.5 accepts the bill of materials")


def pod_for_podman(configuration: str, authorities: str, secrets: str) -> None:
    """Prints the rendered Deployment of standard input as `podman kube play` takes it.

    Podman has no native sidecars and no fsGroup, probes with commands of the image only, and version 4.3 mounts Secrets
    in base64: the proxy is an ordinary container without probes, its secret is in a folder, and the pod is on the
    network that the test made."""
    documents = [document for document in yaml.safe_load_all(sys.stdin) if document]
    for document in documents:
        if document["kind"] == "ConfigMap":
            document["data"]["proxy.yaml"] = pathlib.Path(configuration).read_text()
            document["data"]["demo-ca.pem"] = pathlib.Path(authorities).read_text()
        elif document["kind"] == "Deployment":
            # Podman would run each replica on the same ports.
            document["spec"]["replicas"] = 1
            pod = document["spec"]["template"]["spec"]
            pod["containers"] += pod.pop("initContainers", [])
            pod["hostNetwork"] = True
            for volume in pod["volumes"]:
                if volume.pop("secret", None) or volume.pop("projected", None):
                    volume["hostPath"] = {"path": secrets, "type": "Directory"}
            for container in pod["containers"]:
                for name in ("ports", "startupProbe", "readinessProbe", "livenessProbe", "restartPolicy"):
                    container.pop(name, None)
    print(yaml.safe_dump_all(documents))


def main() -> None:
    if sys.argv[1] == "--pod":
        return pod_for_podman(*sys.argv[2:])
    deploy = pathlib.Path(sys.argv[1])
    check_kubernetes(deploy / "kubernetes")
    check_compose(deploy / "compose.yaml")
    check_programs(deploy.parent / "config/recipes/programs")
    for file in sys.argv[2:]:
        check_sbom(pathlib.Path(file))


if __name__ == "__main__":
    main()
