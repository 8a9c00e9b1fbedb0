export function loader() {
  return { text: "Public" };
}

export function action() {
  return { posted: true };
}

export default function Home() {
  return <h1>Public</h1>;
}
